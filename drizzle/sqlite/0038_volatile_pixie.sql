ALTER TABLE `executions` ADD `approval_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `executions_approval` ON `executions` (`approval_id`) WHERE approval_id is not null;