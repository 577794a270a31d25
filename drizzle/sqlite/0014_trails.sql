ALTER TABLE `authorizations` ADD `opened_at` integer;--> statement-breakpoint
ALTER TABLE `authorizations` ADD `trail` text;--> statement-breakpoint
ALTER TABLE `connections` ADD `trail` text;--> statement-breakpoint
CREATE INDEX `connections_troubled` ON `connections` (`project_id`,`id`) WHERE trail is not null;