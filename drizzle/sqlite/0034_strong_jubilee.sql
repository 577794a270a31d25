DROP INDEX `approvals_of_user`;--> statement-breakpoint
DROP INDEX `approvals_by_status`;--> statement-breakpoint
CREATE INDEX `approvals_of_project` ON `approvals` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `approvals_end` ON `approvals` (`ended_at`);--> statement-breakpoint
CREATE INDEX `approvals_of_user` ON `approvals` (`project_id`,`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `approvals_by_status` ON `approvals` (`project_id`,`status`,`id`);--> statement-breakpoint
DROP INDEX `standing_approvals_of_user`;--> statement-breakpoint
CREATE INDEX `standing_approvals_of_project` ON `standing_approvals` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `standing_approvals_of_user` ON `standing_approvals` (`project_id`,`user_id`,`id`);